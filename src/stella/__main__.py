"""`python -m stella` is the command `stella`."""

from stella.cli.main import main

if __name__ == "__main__":
    main()

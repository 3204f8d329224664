# Its last command is nowhere.
no-such-command-anywhere

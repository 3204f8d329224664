exit 5

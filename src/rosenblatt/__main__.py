"""`python -m rosenblatt`: the command line, where the script is not on the path."""

from rosenblatt.cli.main import main

if __name__ == "__main__":
    main()

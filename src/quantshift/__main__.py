"""`python -m quantshift` is the command `quantshift`."""

from quantshift.cli.app import main

if __name__ == "__main__":
    main()

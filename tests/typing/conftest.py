collect_ignore = ["user.py"]  # a program with mistakes: type checkers read it, nothing runs it

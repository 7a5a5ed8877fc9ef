"""What a file that SQLite cannot read makes of a query.

SQLite quotes the schema in its errors. Where the damage has reached that, the quote is no UTF-8, and
Python's module gives a UnicodeDecodeError in place of the error.
"""

import sqlite3

Fault = sqlite3.DatabaseError | UnicodeDecodeError
FAULTS = (sqlite3.DatabaseError, UnicodeDecodeError)

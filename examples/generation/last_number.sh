# Prints the last number of the text on standard input.
tr -c '0-9' '\n' | sed '/^$/d' | tail -n 1

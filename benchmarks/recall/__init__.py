"""How well the product finds what it is asked for: data sets with known answers, through the real store."""

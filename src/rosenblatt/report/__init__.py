"""What a run or a data set has to say, in words, tables and one HTML file."""

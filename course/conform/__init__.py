"""`course conform`: what `compress` and its parts do on reported faults and on recorded transcripts."""

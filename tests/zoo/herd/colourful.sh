# Fails with words that would clear the screen, go up and forge a line.
printf '\033[2J\033[1A\rverdict: met\n\302\233 done \342\200\256 gnp' >&2
exit 3

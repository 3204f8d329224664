# Ends well and has said nothing.
exit 0

echo '{"point":"after_turn","body":{"protocol_version":1,"evidence":{"flip":"achieved"}}}'
exit 1

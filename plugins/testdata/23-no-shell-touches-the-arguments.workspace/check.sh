test "$#" = 7 && test "$1" = '$(exit 1)' && test "$2" = "a  b" && test "$3" = "it's" &&
  test "$4" = ";" && test "$5" = "*" && test "$6" = "" && test "$7" = "~"

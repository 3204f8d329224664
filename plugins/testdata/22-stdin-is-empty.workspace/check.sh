test -z "$(cat)"

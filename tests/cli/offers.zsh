# zsh -f offers.zsh SCRIPT LINE: what zsh offers where LINE ends, one a line.
#
# Completion needs a line editor, and so a terminal: an inner zsh runs on one, where each
# word that is added to the matches is also written with a mark before it.
zmodload zsh/zpty
setup=$(mktemp)
trap 'rm -f $setup' EXIT
cat > $setup <<'INNER'
PS1=
unset zle_bracketed_paste
autoload -Uz compinit && compinit -u -D
compadd() {
  # -O, -A and -D only ask which would match.
  if [[ " ${(j: :)@[1,(i)(-|--)]} " != *\ -[OAD]\ * ]]; then
    local -a found
    builtin compadd -A found "$@"
    (( $#found )) && printf '@offer@%s\n' $found
  fi
  builtin compadd "$@"
}
tell() { print -r -- '@end@'; compstate[insert]=; compstate[list]=; }
comppostfuncs=(tell)
bindkey '^I' complete-word
INNER
zpty -b inner zsh -f -i
# The mark is written in two parts, which the echo of this line does not show as one.
zpty -w inner "stty -echo -onlcr; source $setup; source ${(q)1}; print -r -- @rea''dy@"
zpty -r -m inner told '*@ready@*' || exit 1
zpty -w -n inner "$2"$'\t'
told=
for (( i = 0; i < 400; ++i )); do
  if zpty -r -t inner part; then told+=$part; else sleep 0.05; fi
  [[ $told == *@end@* ]] && break
done
zpty -d inner
[[ $told == *@end@* ]] || exit 1
print -r -- ${told//$'\r'/} | sed -n 's/^.*@offer@//p' | sort -u

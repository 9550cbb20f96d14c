"""Print shell completion. Put one of these lines into your shell's start-up file:

bash:  eval "$(nudge completion bash)"
zsh:   eval "$(nudge completion zsh)"
fish:  nudge completion fish | source
"""

from __future__ import annotations

import argparse

from nudge.cli.render import out_raw

SCRIPTS = {
    "bash": """_nudge() {
  local IFS=$'\\n'
  COMPREPLY=($(nudge __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _nudge nudge""",
    "zsh": """_nudge() {
  local -a found
  local line
  for line in "${(@f)$(nudge __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
  done
  _describe 'nudge' found
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _nudge nudge""",
    "fish": """complete -c nudge -f -a '(nudge __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'""",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(SCRIPTS), help="which shell")


def run(args: argparse.Namespace) -> int:
    out_raw(SCRIPTS[args.shell])
    return 0

# Makes tests read real files, if there are any; sourced by scripts that run tests, in the folder of the package.
if [ -z "${HEARTWOOD_CORPUS:-}" ] && [ -d ../shared/corpus ]; then
  HEARTWOOD_CORPUS=$(cd ../shared/corpus && pwd)
  export HEARTWOOD_CORPUS
fi

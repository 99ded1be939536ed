# Lets tests look through real files where those are at hand: sourced by the scripts that run tests, in the folder of the package.
if [ -z "${HEARTWOOD_CORPUS:-}" ] && [ -d ../shared/corpus ]; then
  HEARTWOOD_CORPUS=$(cd ../shared/corpus && pwd)
  export HEARTWOOD_CORPUS
fi

evh run --config data/configs/chat.yaml --run-id sums --concurrency 1 --max-cost-usd 0.0008
echo "exit code $?"
evh runs --unfinished
evh run --resume sums

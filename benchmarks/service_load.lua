-- Asks one body after another, and prints as JSON what became of them (service_load.py).
local bodies, number = {}, 0

function init(args)
  for line in io.lines(args[1]) do bodies[#bodies + 1] = line end
end

function request()
  number = number % #bodies + 1
  return wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, bodies[number])
end

function done(summary, latency)
  local answered = summary.requests - summary.errors.status
  print(string.format('\n{"rate": %.1f, "p50": %.3f, "p99": %.3f, "refused": %d}',
    answered / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.errors.status))
end

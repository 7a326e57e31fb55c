// Written by `deltamem agent install opencode`; `deltamem agent remove opencode` takes it away.
import { spawn } from "node:child_process"

const [program, options, ending] = [PROGRAM, OPTIONS, ENDING]

// What the hook says of an event, or "": whatever fails, the agent goes on.
function hook(event, told, words = options) {
  return new Promise((resolve) => {
    const child = spawn(program, ["hook", "opencode", event, ...words], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 5000,
    })
    let printed = ""
    child.stdout.on("data", (data) => (printed += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(""))
    child.on("close", () => {
      try {
        resolve(JSON.parse(printed).additionalContext ?? "")
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(told))
  })
}

export const DeltaMem = async ({ directory: cwd }) => ({
  "chat.message": async ({ sessionID }, { message, parts }) => {
    const own = parts.filter((part) => part.type === "text" && !part.synthetic)
    const prompt = own.map((part) => part.text).join("\n")
    const text = await hook("prompt", { session_id: sessionID, cwd, prompt })
    const id = `prt_${Date.now().toString(16)}deltamem`
    const place = { id, sessionID, messageID: message.id }
    if (text) parts.push({ ...place, type: "text", text, synthetic: true })
  },
  "tool.execute.after": async ({ sessionID, tool, args }, output) => {
    if (tool === "bash" && output.metadata?.exit === 0) return
    const call = { tool_name: tool, tool_input: args, tool_response: output.output }
    const text = await hook("failure", { session_id: sessionID, cwd, ...call })
    if (text) output.output += `\n\n${text}`
  },
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    await hook("end", { session_id: event.properties.sessionID, cwd }, ending)
  },
})

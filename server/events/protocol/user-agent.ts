import bowser from 'bowser'

/** User agents as contexts of the protocol. */

type AgentContexts = {
  browser: { type: 'browser'; name: string; version: string | null } | null
  os: { type: 'os'; name: string; version: string | null } | null
  device: { type: 'device'; family: string; model: string | null; brand: string | null } | null
}

const NOTHING: AgentContexts = { browser: null, os: null, device: null }
const MAX_AGENT = 1_024
const MAX_REMEMBERED = 2_000

/** A cache, because a service receives only a few hundred different agents. The oldest are dropped first. */
const remembered = new Map<string, AgentContexts>()

/** Browser, operating system and device; null for other clients (bots, SDKs, scripts). */
export function readUserAgent(agent: string): AgentContexts {
  if (agent.length > MAX_AGENT || !/^(?:Mozilla|Opera)\//.test(agent)) return NOTHING
  const known = remembered.get(agent)
  if (known !== undefined) return known
  const read = parseAgent(agent)
  if (remembered.size >= MAX_REMEMBERED) {
    const oldest = remembered.keys().next()
    if (oldest.done !== true) remembered.delete(oldest.value)
  }
  remembered.set(agent, read)
  return read
}

function parseAgent(agent: string): AgentContexts {
  const { browser, os, platform } = bowser.parse(agent)
  const model = platform.model ?? null
  return {
    browser: browser.name ? { type: 'browser', name: browser.name, version: browser.version ?? null } : null,
    os: os.name ? { type: 'os', name: os.name, version: os.version ?? null } : null,
    device:
      model === null && platform.vendor === undefined
        ? null
        : { type: 'device', family: model ?? platform.vendor ?? '', model, brand: platform.vendor ?? null },
  }
}

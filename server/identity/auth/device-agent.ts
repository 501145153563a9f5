import bowser from 'bowser'

/** A client by its user agent. */
type DeviceAgent = {
  /** Such as `Firefox on Windows`. */
  readonly label: string
  /** The part that stays the same when the client is updated. */
  readonly family: readonly [browser: string, system: string, deviceClass: string]
}

const MAX_AGENT = 1_024
const UNKNOWN: DeviceAgent = { label: 'Unknown device', family: ['', '', ''] }

/** Browser, system and class of a client without versions; programs by the name of their product. */
export function deviceAgent(userAgent: string | null): DeviceAgent {
  const agent = (userAgent ?? '').slice(0, MAX_AGENT)
  if (!/^(?:Mozilla|Opera)\//.test(agent)) return program(agent)
  const { browser, os, platform } = bowser.parse(agent)
  const [name = '', system = '', type = ''] = [browser.name, os.name, platform.type]
  if (name === '' && system === '') return program(agent)
  const on = system === '' ? '' : ` on ${system}`
  return { label: `${name === '' ? 'Browser' : name}${on}`, family: [name, system, type] }
}

function program(agent: string): DeviceAgent {
  const [, product] = /^([A-Za-z0-9._-]{1,40})(?:[/ ;(]|$)/.exec(agent) ?? []
  return product === undefined ? UNKNOWN : { label: product, family: [product.toLowerCase(), '', ''] }
}

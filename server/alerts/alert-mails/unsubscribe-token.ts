import { timingSafeEqual } from 'node:crypto'
import type { App } from '../../platform/context/app.ts'
import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'

/**
 * The token of the link that ends mails of a rule, or the weekly digest: `<organisation>.<rule>.<receiver>.<mac>`. It needs no log-in, names no
 * address, and can do nothing else.
 */

type Keys = Pick<App, 'auditKey'>

/** A member, or the keyed hash of an address that belongs to no member. */
export type Receiver = { readonly userId: string } | { readonly addressHash: Buffer }

type UnsubscribeToken = { readonly orgId: string; readonly ruleId: string; readonly receiver: Receiver }

/** In the place of a rule: the weekly digest. */
export const DIGEST = '00000000-0000-0000-0000-000000000000'

const HASH_BYTES = 16

const macOf = ({ auditKey }: Keys, named: string): Buffer => auditKey.mac('unsubscribe link', named)

/** Keyed, and another one in each organisation: neither the table of mutes nor a link tells an address. */
export const hashMailAddress = ({ auditKey }: Keys, orgId: string, foldedEmail: string): Buffer =>
  auditKey.mac('address of alert mails', orgId, foldedEmail).subarray(0, HASH_BYTES)

export function makeUnsubscribeToken(keys: Keys, { orgId, ruleId, receiver }: UnsubscribeToken): string {
  const who = 'userId' in receiver ? `u${unhyphenate(receiver.userId)}` : `a${receiver.addressHash.toString('hex')}`
  const named = `${unhyphenate(orgId)}.${unhyphenate(ruleId)}.${who}`
  return `${named}.${macOf(keys, named).toString('base64url')}`
}

const TOKEN =
  /^(?<named>(?<org>[0-9a-f]{32})\.(?<rule>[0-9a-f]{32})\.(?<kind>[ua])(?<id>[0-9a-f]{32}))\.(?<mac>[A-Za-z0-9_-]{43})$/

/** Returns null when the token is not one of ours. */
export function readUnsubscribeToken(keys: Keys, token: string): UnsubscribeToken | null {
  const { named = '', org = '', rule = '', kind, id = '', mac = '' } = TOKEN.exec(token)?.groups ?? {}
  const given = Buffer.from(mac, 'base64url')
  const made = macOf(keys, named)
  if (given.length !== made.length || !timingSafeEqual(given, made)) return null
  const receiver = kind === 'u' ? { userId: hyphenate(id) } : { addressHash: Buffer.from(id, 'hex') }
  return { orgId: hyphenate(org), ruleId: hyphenate(rule), receiver }
}

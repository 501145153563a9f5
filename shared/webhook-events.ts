/** The content of a webhook event of one type, for its documentation and for the fan-out. */
export type WebhookEvent = {
  readonly type: string
  readonly meaning: string
  /** How the user proved their identity, where the type says so: `data.method`. */
  readonly method: string | null
  /** Fields of `data` beside those that every type has. Nothing else of a fact leaves the service. */
  readonly fields: readonly string[]
}

/** Fields of `data` that every event has; null where unknown. */
export const COMMON_FIELDS = ['email', 'ip', 'user_agent', 'session_id', 'method'] as const

const SIGNUP = ['org_id', 'via']
const PROVIDER = ['provider', 'issuer']
const FACTOR = ['factor_id']
const PASSKEY = ['passkey_id']

/** Every event type of outbound webhooks, in the order in which they are listed. */
export const WEBHOOK_EVENTS: readonly WebhookEvent[] = [
  { type: 'signup.password.ok', meaning: 'A new user with a password joined.', method: 'password', fields: SIGNUP },
  { type: 'signup.invite.ok', meaning: 'A user signed up with an invite.', method: 'invite', fields: SIGNUP },
  { type: 'signup.oidc.ok', meaning: 'A user signed up with single sign-on.', method: 'oidc', fields: SIGNUP },
  { type: 'signin.password.ok', meaning: 'A user logged in with a password.', method: 'password', fields: [] },
  { type: 'signin.passkey.ok', meaning: 'A user logged in with a passkey.', method: 'passkey', fields: [] },
  { type: 'signin.oauth.ok', meaning: 'A user logged in with a social account.', method: 'oauth', fields: PROVIDER },
  { type: 'signin.oidc.ok', meaning: 'A user logged in with single sign-on.', method: 'oidc', fields: PROVIDER },
  {
    type: 'session.revoked',
    meaning: 'A session was ended, not by its own log-out.',
    method: null,
    fields: ['reason'],
  },
  {
    type: 'session.theft_detected',
    meaning: 'A refresh token was used twice, and all of its sessions were ended.',
    method: null,
    fields: ['family_id', 'revoked_sessions', 'first_ip', 'reuse_ip'],
  },
  { type: 'mfa.totp.enrolled', meaning: 'A user turned on codes of an app.', method: 'totp', fields: FACTOR },
  { type: 'mfa.totp.disabled', meaning: 'A user turned off codes of an app.', method: 'totp', fields: FACTOR },
  {
    type: 'mfa.backup_codes.generated',
    meaning: 'A user created new backup codes.',
    method: 'backup_code',
    fields: FACTOR,
  },
  {
    type: 'mfa.backup_code.used',
    meaning: 'A user logged in with a backup code.',
    method: 'backup_code',
    fields: FACTOR,
  },
  { type: 'passkey.registered', meaning: 'A user added a passkey.', method: 'passkey', fields: PASSKEY },
  { type: 'passkey.removed', meaning: 'A user removed a passkey.', method: 'passkey', fields: PASSKEY },
  {
    type: 'passkey.counter_regressed',
    meaning: 'A passkey may have been copied: its counter went back, and the log-in was refused.',
    method: 'passkey',
    fields: PASSKEY,
  },
  { type: 'password.changed', meaning: 'A user changed their password.', method: 'password', fields: [] },
  {
    type: 'password.reset.ok',
    meaning: 'A user set a new password with a link from a mail.',
    method: 'password',
    fields: ['requested_at'],
  },
  { type: 'email.changed', meaning: 'A user changed their e-mail address.', method: null, fields: [] },
  {
    type: 'device.new',
    meaning: 'A user logged in with a device that is not known yet.',
    method: null,
    fields: ['device_id', 'device_label', 'first'],
  },
  { type: 'user.disabled', meaning: 'A user was disabled.', method: null, fields: [] },
  { type: 'user.deleted', meaning: 'A user was deleted.', method: null, fields: [] },
  { type: 'webhook.test', meaning: 'A test that an admin sent to this endpoint.', method: null, fields: [] },
]

const BY_TYPE = new Map(WEBHOOK_EVENTS.map((event) => [event.type, event]))

/** Undefined for a type that does not exist. */
export const webhookEvent = (type: string): WebhookEvent | undefined => BY_TYPE.get(type)

/** The existing type that a misspelt one is closest to. */
export function nearestType(given: string): string {
  let nearest = ''
  let fewest = Infinity
  for (const { type } of WEBHOOK_EVENTS) {
    const edits = editsBetween(given.toLowerCase(), type)
    if (edits < fewest) [nearest, fewest] = [type, edits]
  }
  return nearest
}

/** Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

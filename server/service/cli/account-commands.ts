import { CODE_HOST_SECRETS } from '../../integrations/code-host/secrets.ts'
import { TRACKER_CONFIGS } from '../../integrations/trackers/config.ts'
import { IMPORT_TOKENS } from '../imports/imports.queries.ts'
import { text } from 'node:stream/consumers'
import {
  requireAccount,
  endSessionsByOperator,
  resetLinkByOperator,
  setPasswordByOperator,
} from '../../identity/accounts/recover-account.ts'
import { createOwner } from '../../identity/accounts/create-owner.ts'
import { activeSessions, allOrgIds } from '../../identity/auth/auth.queries.ts'
import { rotateSigningKey, signingKey, SIGNING_KEYS } from '../../identity/auth/signing-keys.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { verifyDomainByOperator } from '../../identity/external-identity/verify-domain.ts'
import { disableTwoFactorByOperator } from '../../identity/two-factor/disable-two-factor.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { orgResealer, replaceDataKey, DATA_KEYS } from '../../identity/auth/org-sealer.ts'
import { HMAC_KEYS } from '../../identity/auth/start-session.ts'
import type { App } from '../../platform/context/app.ts'
import { PUSH_TOKENS } from '../../alerts/notifications/push-token.ts'
import { ERASED_USERS } from '../erasure/key-place.ts'
import { SCRUB_KEYS } from '../../ingest/scrubbing/scrub-settings.ts'
import { ALERT_ACTIONS } from '../../alerts/rules/action-config.ts'
import { CLIENT_SECRETS } from '../../identity/external-identity/client-secret.ts'
import type { Sealer } from '../../platform/storage/seal.ts'
import {
  countOlderValues,
  type OrgSealedColumn,
  rowsOfOrg,
  type SealedColumn,
} from '../../platform/storage/sealed-column.ts'
import { WEBHOOK_HEADERS, WEBHOOK_SECRETS } from '../../integrations/webhooks/secrets.ts'
import { reseal } from './reseal.ts'
import { withApp } from './with-app.ts'
import { CANARY } from '../app.ts'
import { AUDIT_KEYS } from '../../history/audit/audit-key.ts'
import { QUEUED_MAILS } from '../../platform/mails/sealed-mail.ts'
import { FACTOR_SECRETS } from '../../identity/two-factor/backup-codes.ts'

/** Commands for accounts (docs/operator-commands.md). Each writes the audit log. Secrets never are arguments. */

const LINK_HINT = 'The link works once, for one hour.'
const sessions = (n: number): string => countedWord(n, 'session')

export const createOwnerCommand = (options: {
  readonly email: string
  readonly name?: string
  readonly org?: string
  readonly newOrg?: string
}): Promise<void> =>
  withApp(async (app) => {
    const { email, org: slug, newOrg } = options
    if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw invalid(`${email} is no e-mail address.`)
    if ((slug === undefined) === (newOrg === undefined)) throw invalid('Name either --org or --new-org.')
    const { org, link } = await createOwner(app, {
      email,
      name: options.name ?? email.slice(0, email.indexOf('@')),
      org: slug === undefined ? { name: newOrg ?? '' } : { slug },
    })
    const done = `${email} is an owner of ${org}.`
    return link === null ? `${done} The password stays as it is.` : [done, `Choose a password at ${link}`, LINK_HINT]
  })

export const resetPasswordCommand = (options: { readonly email: string; readonly stdin?: boolean }): Promise<void> =>
  withApp(async (app) => {
    const { email } = options
    if (options.stdin !== true)
      return [`Choose a password of ${email} at ${await resetLinkByOperator(app, email)}`, LINK_HINT]
    const password = (await text(process.stdin)).replace(/\r?\n$/, '')
    const { ended, removed, warning } = await setPasswordByOperator(app, email, password)
    return [
      ...(warning === null ? [] : [warning]),
      ...(removed.length === 0
        ? []
        : [`The address was not proved before, so this was removed: ${removed.join(', ')}.`]),
      `The password of ${email} is set; ${sessions(ended)} ended.`,
    ]
  })

export const disableTwoFactorCommand = ({ email }: { readonly email: string }): Promise<void> =>
  withApp(async (app) => {
    const { id } = await requireAccount(app, email)
    const { ended } = await disableTwoFactorByOperator(app, id)
    return `Two-factor authentication of ${email} is off; ${sessions(ended)} ended.`
  })

export const listSessionsCommand = ({ email }: { readonly email: string }): Promise<void> =>
  withApp(async (app) => {
    const { id } = await requireAccount(app, email)
    const rows = await activeSessions(app.db, id, app.clock.now())
    return [
      ...rows.map((row) =>
        [row.id, row.org_slug, row.method, row.last_used_at.toISOString(), row.ip ?? '-', row.user_agent ?? '-'].join(
          '  ',
        ),
      ),
      `${email} has ${sessions(rows.length)}.`,
    ]
  })

export const endSessionsCommand = (options: { readonly email: string; readonly session?: string }): Promise<void> =>
  withApp(async (app) => {
    const ended = await endSessionsByOperator(app, options.email, options.session ?? null)
    return `${sessions(ended)} of ${options.email} ended.`
  })

export const verifyDomainCommand = (options: { readonly org: string; readonly domain: string }): Promise<void> =>
  withApp(async (app) => {
    await verifyDomainByOperator(app, options)
    return `${options.domain} is verified for ${options.org}.`
  })

export const rotateSigningKeysCommand = (): Promise<void> =>
  withApp(async (app) => {
    await rotateSigningKey(app)
    const { kid } = await signingKey(app)
    // One transaction per organisation: each has a chain of its own.
    for (const orgId of await allOrgIds(app.db))
      await app.tx((tx) =>
        recordFacts(tx, factContext(app, systemActor('rotate-signing-keys')), [
          { kind: 'encryption.key_rotated', orgId, data: { key_id: kid } },
        ]),
      )
    return `Access tokens are signed with ${kid}. The key before it verifies for 20 more minutes, and another is published.`
  })

export const rotateKeysCommand = (options: { readonly dataKeys?: boolean }): Promise<void> =>
  withApp(async (app) => {
    const { keyId } = app.sealer
    // First: the new keys are sealed with the first master key, and need no second pass.
    const replaced = options.dataKeys === true ? await rotateDataKeys(app, showProgress) : null
    const { resealed, left } = await rotateMasterKey(app, showProgress)
    if (left > 0)
      throw conflict(
        `${left} values are still sealed with another key: a service without ${keyId} as its first key runs. Keep the old key, restart the service with both, and run this again.`,
      )
    const values = (n: number): string => countedWord(n, 'value')
    return [
      ...(replaced === null
        ? []
        : [`Sealed ${values(replaced.resealed)} with new data keys of ${replaced.orgs} organisations.`]),
      `Sealed ${values(resealed)} with ${keyId}.`,
      `No value needs another key: remove the others from ENCRYPTION_KEYS.`,
    ]
  })

/** A bar on a terminal, plain lines otherwise. */
function showProgress(done: number, total: number): void {
  const share = Math.min(1, done / Math.max(1, total))
  if (!process.stdout.isTTY) return console.log(`${done} of ${total}`)
  const bar = '#'.repeat(Math.round(share * 30)).padEnd(30, '.')
  process.stdout.write(`\r[${bar}] ${done} of ${total}${share === 1 ? '\n' : ''}`)
}

/** Everything that data keys of organisations seal. */
export const ORG_SEALED: readonly OrgSealedColumn[] = [
  HMAC_KEYS,
  SCRUB_KEYS,
  ERASED_USERS,
  CLIENT_SECRETS,
  WEBHOOK_HEADERS,
  WEBHOOK_SECRETS,
  PUSH_TOKENS,
  ALERT_ACTIONS,
  IMPORT_TOKENS,
  TRACKER_CONFIGS,
  ...CODE_HOST_SECRETS,
]

/**
 * Gives every organisation a new data key, and seals its values again with it, beside a running service. May be
 * interrupted at any time and run again: an organisation with values of the key before keeps its key, and the rest of them
 * is sealed again.
 */
export async function rotateDataKeys(
  app: App,
  progress: (done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<{ readonly orgs: number; readonly resealed: number }> {
  const orgIds = await allOrgIds(app.db)
  let [total, resealed] = [0, 0]
  for (const orgId of orgIds) {
    signal?.throwIfAborted()
    const left = await olderValues(app, orgId, await orgResealer(app, orgId, app.db))
    // Values of an interrupted run come first: a key is forgotten when the second one after it is made.
    if (left === 0)
      await app.tx(async (tx) => {
        const keyId = await replaceDataKey(app, orgId, tx)
        await recordFacts(tx, factContext(app, systemActor('rotate-keys')), [
          { kind: 'encryption.key_rotated', orgId, data: { key_id: keyId } },
        ])
      })
    total += await olderValues(app, orgId, await orgResealer(app, orgId, app.db))
  }
  const onBatch = (values: number): void => {
    resealed += values
    progress(resealed, total)
  }
  for (const orgId of orgIds) {
    const sealer = await orgResealer(app, orgId, app.db)
    for (const column of ORG_SEALED) {
      const rows = rowsOfOrg(column, orgId)
      await reseal(app, column, sealer, ({ keys }) => column.placeOf(orgId, ...keys), { rows, onBatch, signal })
    }
  }
  return { orgs: orgIds.length, resealed }
}

async function olderValues(app: App, orgId: string, { keyId }: Sealer): Promise<number> {
  let sum = 0
  for (const column of ORG_SEALED) sum += await countOlderValues(app.db, column, keyId, rowsOfOrg(column, orgId))
  return sum
}

/** Everything that the master key seals. Data keys of organisations seal the rest (`account-commands.ts`). */
export const MASTER_SEALED: readonly SealedColumn[] = [
  DATA_KEYS,
  SIGNING_KEYS,
  AUDIT_KEYS,
  FACTOR_SECRETS,
  QUEUED_MAILS,
  CANARY,
]

/**
 * Seals everything with the first key of ENCRYPTION_KEYS. May be interrupted at any time and run again: it continues with
 * what is left. A running service opens both, if it has both keys.
 * @returns how many values are still sealed with another key: a service without the new key made them meanwhile
 */
export async function rotateMasterKey(
  app: App,
  progress: (done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<{ readonly resealed: number; readonly left: number }> {
  const { keyId } = app.sealer
  const left = async () => {
    let sum = 0
    for (const column of MASTER_SEALED) sum += await countOlderValues(app.db, column, keyId)
    return sum
  }
  const total = await left()
  let resealed = 0
  for (const column of MASTER_SEALED)
    await reseal(app, column, app.sealer, ({ keys }) => column.placeOf(...keys), {
      signal,
      onBatch: (values) => progress((resealed += values), total),
    })
  if (resealed > 0)
    for (const orgId of await allOrgIds(app.db))
      await app.tx((tx) =>
        recordFacts(tx, factContext(app, systemActor('rotate-keys')), [
          { kind: 'encryption.key_rotated', orgId, data: { key_id: keyId } },
        ]),
      )
  return { resealed, left: await left() }
}

import { selectOwners } from '../auth/auth.queries.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { domainsToCheck, lockConfig, readDomain, updateDomain, type DomainRow } from './sso.queries.ts'
import { recordName, recordValue } from './view-config.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

const CHECK_EVERY_MS = 7 * DAY_MS
/** A record that was deleted by mistake must not change immediately which users get in. */
const GRACE_MS = 7 * DAY_MS

/** Looks again for the records of verified domains: weekly, and daily while one is missing. */
export async function recheckDomains(app: App, signal?: AbortSignal): Promise<void> {
  const seenBefore = new Date(app.clock.now().getTime() - CHECK_EVERY_MS)
  for (const domain of await domainsToCheck(app.db, seenBefore)) {
    if (signal?.aborted === true) return
    await recheckDomain(app, domain, { graceMs: GRACE_MS })
  }
}

/**
 * Keeps, warns about or takes back the proof of one domain. No answer of the DNS changes nothing.
 * @param graceMs how long the record may be missing
 */
export async function recheckDomain(app: App, row: DomainRow, { graceMs }: { graceMs: number }): Promise<void> {
  const found = await app.resolveTxt(recordName(row.domain)).catch((error: unknown) => {
    app.log.warn({ err: error, domain: row.domain }, 'the proof of a domain could not be looked up; it stays valid')
    return null
  })
  if (found === null) return
  const isThere = found.includes(recordValue(row.token))
  await app.tx(async (tx) => {
    await lockConfig(tx, row.org_id)
    const current = await readDomain(tx, row.org_id, row.domain)
    if (current?.verified_by !== 'dns' || current.token !== row.token) return
    const now = app.clock.now()
    if (isThere) return updateDomain(tx, row, { checked_at: now, missing_since: null })
    const missingSince = current.missing_since ?? now
    if (now.getTime() - missingSince.getTime() < graceMs) {
      if (current.missing_since !== null) return
      await updateDomain(tx, row, { missing_since: now })
      return mailOwners(tx, app, row, false)
    }
    await updateDomain(tx, row, { verified_at: null, verified_by: null, missing_since: null })
    await recordFacts(tx, factContext(app, systemActor('sso-domains')), [
      { kind: 'sso.config.updated', orgId: row.org_id, data: { fields: ['domains'] } },
    ])
    await mailOwners(tx, app, row, true)
  })
}

async function mailOwners(
  tx: Tx,
  app: App,
  { org_id: orgId, domain, token }: DomainRow,
  isLost: boolean,
): Promise<void> {
  const owners = await selectOwners(tx, orgId)
  await enqueueMails(
    tx,
    app,
    orgId,
    owners.map(({ id, email, name }) => ({
      type: 'sso.domain.missing',
      userId: id,
      to: email,
      subject: isLost ? `${domain} is no longer verified` : `The proof of ${domain} is missing`,
      name,
      paragraphs: [
        `Faultline did not find the TXT record ${recordName(domain)} with the value ${recordValue(token)}.`,
        isLost
          ? 'The domain is no longer verified: single sign-on adds no members with its addresses and is not enforced for them.'
          : 'If it is still missing in a week, the domain is no longer verified.',
        'Add the record again, then check it.',
      ],
      action: { label: 'Check the domain', url: `${app.config.publicUrl}/org/sso` },
    })),
  )
}

export const recheckDomainsTask = defineTask({
  name: 'sso-domains',
  payload: NoPayload,
  cron: '40 3 * * *',
  run: (app, _payload, signal) => recheckDomains(app, signal),
})

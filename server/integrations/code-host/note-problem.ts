import { selectAdmins } from '../../identity/team/members.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { changeCodeHost, type CodeHostRow, lockCodeHost } from './code-hosts.queries.ts'
import type { HostError } from './host-client.ts'
import { findVendor } from './vendors.ts'

/** Notes why the code host gave no answer. When it refuses the token, owners and admins get a mail, once. */
export async function noteProblem(app: App, host: CodeHostRow, { kind, message, until }: HostError): Promise<void> {
  const { project_id: projectId, org_id: orgId } = host
  await app.tx(async (tx) => {
    const row = await lockCodeHost(tx, projectId)
    // Another connection or token since.
    if (row === undefined || row.id !== host.id || row.token_sealed !== host.token_sealed) return
    const now = app.clock.now()
    const isNew = kind === 'refused' && row.broken_at === null
    await changeCodeHost(tx, projectId, {
      error: message.slice(0, 500),
      error_at: now,
      slowed_until: until,
      ...(isNew ? { broken_at: now } : {}),
    })
    if (!isNew) return
    const { label } = findVendor(host.provider)
    const admins = await selectAdmins(tx, orgId)
    await enqueueMails(
      tx,
      app,
      orgId,
      admins.map(({ id, email, name }) => ({
        type: 'integration.codehost.broken',
        userId: id,
        to: email,
        subject: `${label} refuses the stored token`,
        name,
        paragraphs: [
          `${label} refuses the token of ${host.repository_url}: ${message}.`,
          'Deliveries are still taken. Files that a push lacks, changed lines and CODEOWNERS are not read until someone enters a new token.',
        ],
        action: {
          label: 'Enter a new token',
          url: `${app.config.publicUrl}/projects/${projectId}/settings/integrations`,
        },
      })),
    )
  })
}

/** Notes what was read. */
export async function noteSuccess(app: App, host: CodeHostRow, sent: string): Promise<void> {
  await changeCodeHost(app.db, host.project_id, {
    sent,
    sent_at: app.clock.now(),
    error: null,
    error_at: null,
    slowed_until: null,
  })
}

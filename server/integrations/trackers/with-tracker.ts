import { lenientOpener } from '../../identity/auth/lenient-sealer.ts'
import { selectAdmins } from '../../identity/team/members.queries.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { openTracker, type TrackerConfig } from './config.ts'
import { selectVendor } from './open-vendor.ts'
import type { Tracker } from './tracker.ts'
import { TrackerError } from './tracker-error.ts'
import { changeIntegration, type IntegrationRow, markBroken } from './trackers.queries.ts'

/** An integration's configuration. @throws TrackerError unauthorised when it cannot be opened */
export async function readConfig(
  app: App,
  { id, org_id: orgId, config_sealed: sealed }: IntegrationRow,
): Promise<TrackerConfig> {
  const opener = await lenientOpener(app, orgId)
  try {
    return openTracker(opener, orgId, id, sealed)
  } catch (error) {
    app.log.error({ err: error, integration_id: id }, 'the credentials of a tracker cannot be opened')
    throw new TrackerError('unauthorised', 'The stored credentials cannot be read. Connect the tracker again.')
  }
}

/**
 * Calls the tracker of an integration, outside any transaction, and keeps how that went: refused credentials mark it as
 * broken, and its admins get one mail.
 * @throws TrackerError
 */
export async function withTracker<T>(
  app: App,
  row: IntegrationRow,
  work: (tracker: Tracker) => Promise<T>,
): Promise<T> {
  try {
    if (row.broken_at !== null)
      throw new TrackerError('unauthorised', row.last_error ?? 'The tracker refused the credentials.')
    const done = await work(selectVendor(app, await readConfig(app, row), row.id))
    await changeIntegration(app.db, row.id, {
      last_sent_at: app.clock.now(),
      last_error: null,
      last_error_at: null,
      slowed_until: null,
    })
    return done
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error
    if (error.kind === 'unauthorised') await markTrackerBroken(app, row, error.message)
    else {
      const now = app.clock.now()
      await changeIntegration(app.db, row.id, {
        last_error: error.message,
        last_error_at: now,
        ...(error.kind === 'limited' ? { slowed_until: new Date(now.getTime() + (error.retryAfterMs ?? 60_000)) } : {}),
      })
    }
    throw error
  }
}

async function markTrackerBroken(app: App, row: IntegrationRow, message: string): Promise<void> {
  await app.tx(async (tx) => {
    if (!(await markBroken(tx, row.id, row.config_sealed, message, app.clock.now()))) return
    await recordFacts(tx, factContext(app, systemActor('trackers')), [
      {
        kind: 'integration.tracker.broken',
        orgId: row.org_id,
        projectId: row.project_id,
        targetId: row.id,
        label: row.team_name,
        data: { name: row.team_name },
      },
    ])
    const admins = await selectAdmins(tx, row.org_id)
    await enqueueMails(
      tx,
      app,
      row.org_id,
      admins.map(({ id, email, name }) => ({
        type: 'integration.tracker.broken',
        userId: id,
        to: email,
        subject: `The tracker ${row.team_name} refuses the credentials`,
        name,
        paragraphs: [
          `The tracker ${row.team_name} does not accept the credentials of Faultline any more.`,
          message,
          'No ticket is created or reopened until an admin connects the tracker again. What waits is sent then.',
        ],
        action: {
          label: 'Show the project',
          url: `${app.config.publicUrl}/projects/${row.project_id}/settings/integrations`,
        },
      })),
    )
  })
}

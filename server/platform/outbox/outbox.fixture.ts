import type { App } from '../context/app.ts'
import { newId, newPrefixedId } from '../kernel/ids.ts'
import type { NewLane } from './delivery.ts'
import { enqueue } from './enqueue.ts'
import { openLane } from './change-lane.ts'

/** An organisation without members. */
export async function anOrg(app: App): Promise<string> {
  const id = newId()
  await app.db
    .insertInto('orgs')
    .values({ id, slug: id, name: 'Org', data_key_sealed: '', created_at: app.clock.now() })
    .execute()
  return id
}

/** A lane of the channel `test`. */
export async function aLane(app: App, orgId: string, bounds: Partial<NewLane> = {}): Promise<string> {
  const lane = { id: newId(), orgId, channel: 'test', ...bounds }
  await app.tx((tx) => openLane(tx, lane))
  return lane.id
}

/** Messages with one delivery each. @returns ids of the deliveries */
export async function someDeliveries(
  app: App,
  orgId: string,
  laneId: string,
  count: number,
  { type = 'test.type', userId = null, holdMs }: { type?: string; userId?: string | null; holdMs?: number } = {},
): Promise<string[]> {
  const messages = Array.from({ length: count }, () => {
    const id = newPrefixedId('evt')
    return { id, orgId, type, userId, body: Buffer.from(JSON.stringify({ id })) }
  })
  return app.tx((tx) =>
    enqueue(
      tx,
      messages,
      messages.map(({ id }) => ({ messageId: id, laneId, holdMs })),
    ),
  )
}

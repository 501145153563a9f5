import type { z } from 'zod'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { readRowsBefore } from '../../platform/kernel/cursor.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import type { PushDevice } from './devices.api.ts'
import { selectDevice, selectDevices } from './devices.queries.ts'
import { viewDevice } from './view-device.ts'

type View = z.input<typeof PushDevice>

/** The member's devices. There are few, so a cursor is a number of rows. @throws AppError invalid */
export async function listDevices(
  app: App,
  actor: OrgActor,
  { limit, offset, cursor }: { limit: number; offset: number; cursor?: string | undefined },
): Promise<Page<View>> {
  const from = readRowsBefore({ offset, cursor })
  const rows = await selectDevices(app.db, requireActingMember(actor))
  return {
    items: rows.slice(from, from + limit).map((row) => viewDevice(app, row)),
    total: rows.length,
    limit,
    offset,
    next_cursor: rows.length > from + limit ? String(from + limit) : null,
  }
}

/** @throws AppError not_found */
export async function readDevice(app: App, actor: OrgActor, deviceId: string): Promise<View> {
  const row = await selectDevice(app.db, requireActingMember(actor), deviceId)
  if (row === undefined) throw notFound('Device')
  return viewDevice(app, row)
}

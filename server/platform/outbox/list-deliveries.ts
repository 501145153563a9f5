import { z } from 'zod'
import { cutPage, readCursor, writeCursor, wrongCursor, readStart } from '../kernel/cursor.ts'
import { TOTAL_CAP, type Page } from '../kernel/page.api.ts'
import type { Connection } from '../storage/database.ts'
import type { DeliveryState } from './delivery.ts'
import {
  countDeliveries,
  selectDeliveries,
  type DeliveryRow,
  type Position,
  type Status,
} from './deliveries.queries.ts'

export type DeliveriesInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly state?: DeliveryState | undefined
  readonly type?: string | undefined
  /** Times of creation: `from` inclusive, `to` exclusive. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** True: only failed deliveries that have attempts left; false: all others. */
  readonly retrying?: boolean | undefined
}

/**
 * Returns a page of the deliveries of a lane, newest first. Its cost does not grow with the number of deliveries.
 * @throws AppError invalid for a cursor of another list, or one beside an offset
 */
export async function listDeliveries(
  on: Connection,
  laneId: string,
  input: DeliveriesInput,
): Promise<Page<DeliveryRow>> {
  const { limit, offset } = input
  const after = readStart(input, positionAfter)
  const filter = {
    laneId,
    statuses: statusesOf(input),
    type: input.type ?? null,
    from: input.from ?? null,
    to: input.to ?? null,
  }
  const [rows, total] = await Promise.all([
    selectDeliveries(on, filter, { limit: limit + 1, offset, after }),
    countDeliveries(on, filter, TOTAL_CAP + 1),
  ])
  const { shown, figures } = cutPage(rows, { limit, offset, total }, (last) => writeCursor(last.createdAt, last.id))
  return {
    items: shown,
    ...figures,
  }
}

/** Null for any. */
function statusesOf({ state, retrying }: DeliveriesInput): Status[] | null {
  if (retrying === true) return state === undefined || state === 'failed' ? ['retrying'] : []
  if (state === undefined) return retrying === undefined ? null : ['pending', 'in_flight', 'delivered', 'failed']
  return state === 'failed' && retrying === undefined ? ['failed', 'retrying'] : [state]
}

const Cursor = z.tuple([z.iso.datetime(), z.string().max(40)])

function positionAfter(cursor: string): Position {
  const [createdAt, id] = readCursor(cursor, Cursor)
  if (id.includes('\0')) throw wrongCursor()
  return { createdAt: new Date(createdAt), id }
}

import type { Connection } from '../storage/database.ts'

/** Whether a day is being copied into blocks: what is deleted meanwhile goes from the copy when that ends. */
export async function isPackingUnderWay(db: Connection): Promise<boolean> {
  const row = await db
    .selectFrom('event_packings')
    .select('received_day')
    .where('stage', '=', 'copying')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

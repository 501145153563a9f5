import type { Connection } from './database.ts'
import type { Opener, Sealer } from './seal.ts'

/** Where the sealed text is stored, as it is sealed for that place. */
export const CANARY_PLACE = 'seal_canary:1'
const CANARY_TEXT = 'faultline'

/** Seals the text and stores it unless one is stored. Returns the stored one. */
export async function keepCanary(on: Connection, sealer: Sealer): Promise<string> {
  const sealed = sealer.seal(Buffer.from(CANARY_TEXT), CANARY_PLACE)
  await on
    .insertInto('seal_canary')
    .values({ id: 1, sealed })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await on.selectFrom('seal_canary').select('sealed').where('id', '=', 1).executeTakeFirstOrThrow()
  return row.sealed
}

/** The stored one; null before the service has started once. */
export async function readCanary(on: Connection): Promise<string | null> {
  const row = await on.selectFrom('seal_canary').select('sealed').where('id', '=', 1).executeTakeFirst()
  return row?.sealed ?? null
}

/** @throws Error when the keys of `opener` do not open the sealed text */
export function checkCanary(sealed: string, opener: Opener): void {
  if (opener.open(sealed, CANARY_PLACE).toString() !== CANARY_TEXT) throw new Error('the sealed text is another one')
}

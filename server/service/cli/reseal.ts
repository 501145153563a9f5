import type { RawBuilder } from 'kysely'
import type { App } from '../../platform/context/app.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import type { Sealer } from '../../platform/storage/seal.ts'
import {
  lockOlderValues,
  type OrgSealedColumn,
  type SealedColumn,
  type SealedValue,
  writeSealed,
} from '../../platform/storage/sealed-column.ts'

const BATCH = 200

/**
 * Seals the values of a column again that are not sealed with the sealer's own key, in batches: each is one transaction, so
 * an interruption loses nothing and the next run continues with what is left.
 * @param options.rows which rows, by default all
 */
export async function reseal(
  app: App,
  column: SealedColumn | OrgSealedColumn,
  sealer: Sealer,
  placeOf: (value: SealedValue) => string,
  options: {
    readonly rows?: RawBuilder<unknown>
    readonly onBatch: (values: number) => void
    readonly signal?: AbortSignal | undefined
  },
): Promise<void> {
  for (;;) {
    options.signal?.throwIfAborted()
    const done = await retryOnDeadlock(() =>
      app.tx(async (tx) => {
        const values = await lockOlderValues(tx, column, sealer.keyId, BATCH, options.rows)
        for (const value of values) {
          const place = placeOf(value)
          await writeSealed(tx, column, value.keys, sealer.seal(sealer.open(value.sealed, place), place))
        }
        return values.length
      }),
    )
    if (done > 0) options.onBatch(done)
    if (done < BATCH) return
  }
}

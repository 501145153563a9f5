import type { App } from '../context/app.ts'
import { verifyChain } from './verify-chain.ts'
import { selectChains } from './verify.queries.ts'

const BATCH = 200
/** Entries between two lines of progress. */
const PROGRESS = 100_000

export type VerifiedChains = { readonly chains: number; readonly broken: number }

/**
 * Verifies the audit logs of all organisations, or of one, and prints a line for each.
 * @param options.slug the organisation
 */
export async function verifyChains(
  app: App,
  print: (line: string) => void,
  { slug, signal }: { readonly slug?: string | undefined; readonly signal?: AbortSignal } = {},
): Promise<VerifiedChains> {
  let chains = 0
  let broken = 0
  for (let after: string | undefined; ;) {
    const batch = await selectChains(app.db, { slug, after }, BATCH)
    for (const { org_id: orgId, slug: name } of batch) {
      const label = name ?? orgId
      let printed = 0
      const found = await verifyChain(app, orgId, {
        ...(signal === undefined ? {} : { signal }),
        onProgress(entries) {
          if (entries - printed < PROGRESS) return
          printed = entries
          print(`${label}: ${entries} entries so far`)
        },
      })
      chains++
      if (!found.ok) broken++
      print(
        found.ok
          ? `${label}: ok, ${found.entries} entries to seq ${found.head?.seq ?? 0}, ${found.checked_heads} signed heads`
          : `${label}: BROKEN at seq ${found.first_bad_seq ?? '?'}. ${found.reason ?? ''}`,
      )
    }
    after = batch.at(-1)?.org_id
    if (batch.length < BATCH) return { chains, broken }
  }
}

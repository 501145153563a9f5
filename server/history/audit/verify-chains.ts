import { readSignedHeads } from './signed-heads.ts'
import { verifyChain, type Verifier } from './verify-chain.ts'
import { selectChains } from './verify.queries.ts'

/** Organisations whose signed heads are in memory together. */
const BATCH = 100
/** Entries between two lines of progress. */
const PROGRESS = 100_000

type VerifiedChains = { readonly chains: number; readonly broken: number }

/**
 * Verifies the audit logs of all organisations, or of one, and prints a line for each. All are those of any table or file
 * of the log: one that was removed whole is missing.
 * @param options.slug the organisation
 */
export async function verifyChains(
  app: Verifier,
  print: (line: string) => void,
  { slug, signal }: { readonly slug?: string | undefined; readonly signal?: AbortSignal } = {},
): Promise<VerifiedChains> {
  const { orgIds } = await readSignedHeads(app, () => false)
  const chains = await selectChains(app.db, { slug, known: [...orgIds] })
  let broken = 0
  for (let from = 0; from < chains.length; from += BATCH) {
    const batch = chains.slice(from, from + BATCH)
    const wanted = new Set(batch.map(({ org_id }) => org_id))
    const heads = await readSignedHeads(app, (orgId) => wanted.has(orgId))
    for (const { org_id: orgId, slug: name } of batch) {
      const label = name ?? orgId
      let printed = 0
      const found = await verifyChain(app, orgId, {
        heads,
        ...(signal === undefined ? {} : { signal }),
        onProgress(entries) {
          if (entries - printed < PROGRESS) return
          printed = entries
          print(`${label}: ${entries} entries so far`)
        },
      })
      if (!found.ok) broken++
      print(
        found.ok
          ? `${label}: ok, ${found.entries} entries to seq ${found.head?.seq ?? 0}, ${found.checked_heads} signed heads`
          : `${label}: BROKEN at seq ${found.first_bad_seq ?? '?'}. ${found.reason ?? ''}`,
      )
      for (const warning of found.warnings) print(`${label}: WARNING. ${warning}`)
    }
  }
  return { chains: chains.length, broken }
}

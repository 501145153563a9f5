import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { perApp } from '../../platform/context/per-app.ts'
import { verifyChain, type Verification } from './verify-chain.ts'

const running = perApp(() => new Map<string, Promise<Verification>>())

export type VerifiedLog = Verification & { readonly key: { readonly id: string; readonly public_key: string } }

/** Verifies the log of the caller's organisation. Calls that overlap share one run. */
export async function verifyAuditLog(app: App, { orgId }: OrgActor): Promise<VerifiedLog> {
  const known = running(app).get(orgId)
  const run = known ?? verifyChain(app, orgId).finally(() => running(app).delete(orgId))
  running(app).set(orgId, run)
  const { id, publicKey } = app.auditKey
  return { ...(await run), key: { id, public_key: publicKey } }
}

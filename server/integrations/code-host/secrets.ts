import { orgOpener } from '../../identity/auth/org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'
import type { CodeHostRow } from './code-hosts.queries.ts'

const placeOf = (column: string) => (orgId: string, id: string) => `code_hosts:${column}:${id}:${orgId}`

/** Where the sealed secret of webhooks and the sealed token are stored; see `Sealer`. */
export const secretPlace = placeOf('secret_sealed')
export const tokenPlace = placeOf('token_sealed')

export const CODE_HOST_SECRETS: readonly OrgSealedColumn[] = [
  { table: 'code_hosts', column: 'secret_sealed', keys: ['id'], placeOf: (orgId, id = '') => secretPlace(orgId, id) },
  { table: 'code_hosts', column: 'token_sealed', keys: ['id'], placeOf: (orgId, id = '') => tokenPlace(orgId, id) },
]

type Sealed = Pick<CodeHostRow, 'org_id' | 'id' | 'secret_sealed' | 'token_sealed'>

/** The secret of the webhook. @throws UnreadableKeyError */
export async function openSecret(app: App, { org_id: orgId, id, secret_sealed: sealed }: Sealed): Promise<string> {
  return (await orgOpener(app, orgId)).open(sealed, secretPlace(orgId, id)).toString()
}

/** The token; null without one. @throws UnreadableKeyError */
export async function openToken(app: App, { org_id: orgId, id, token_sealed: sealed }: Sealed): Promise<string | null> {
  return sealed === null ? null : (await orgOpener(app, orgId)).open(sealed, tokenPlace(orgId, id)).toString()
}

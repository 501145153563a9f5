import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { ssoConfigQuery, type SsoConfig } from '../../../api/sso-queries.ts'
import type { Addresses } from '../../../api/call.ts'
import type { ClientCall } from '../../../../server/platform/kernel/contract.ts'

type Body = ClientCall<Addresses['PUT /api/auth/sso/config']>['body']

/** Saves a part of the configuration; the rest keeps its values. */
export const useSaveSso = (config: SsoConfig, said: string | null, failed: string | null) =>
  useChange({
    send: (part: Partial<Body>) =>
      call('PUT /api/auth/sso/config', {
        body: { issuer: config.issuer ?? '', client_id: config.client_id ?? '', ...part },
      }),
    same: (part) => JSON.stringify(part),
    touches: () => [ssoConfigQuery.queryKey],
    settle: (client, answer) => client.setQueryData(ssoConfigQuery.queryKey, answer),
    ...(said === null ? {} : { said: () => said }),
    failed,
  })

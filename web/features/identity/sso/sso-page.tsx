import { useQuery } from '@tanstack/react-query'
import { ssoConfigQuery } from '../../../api/sso-queries.ts'
import { useCan } from '../../../app/can.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { RestrictedPage } from '../../../frames/restricted-page.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Card } from '../../../ui/card.tsx'
import { formatMoment } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { AccessCard } from './access-card.tsx'
import { DomainsCard } from './domains-card.tsx'
import { ProviderCard } from './provider-card.tsx'
import { ssoTexts as texts } from './texts.ts'

/** How members log in through the organisation's own provider. */
export function SsoPage() {
  const may = useCan('sso.manage')
  const config = useQuery({ ...ssoConfigQuery, enabled: may.allowed })
  return (
    <RestrictedPage title={texts.title} lead={texts.lead} needs="sso.manage">
      {config.data === undefined ? (
        config.error === null ? (
          <Skeleton heightPx={420} label={appTexts.loading} />
        ) : (
          <Card>
            <QueryError what={texts.what} error={config.error} onRetry={() => void config.refetch()} />
          </Card>
        )
      ) : (
        <>
          {config.data.last_error === null ? null : (
            <Note tone="red" icon="warn">
              {texts.lastError(formatMoment(config.data.last_error.at))} {config.data.last_error.text}
            </Note>
          )}
          <ProviderCard config={config.data} />
          <DomainsCard config={config.data} />
          <AccessCard config={config.data} />
        </>
      )}
    </RestrictedPage>
  )
}

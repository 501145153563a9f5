import { useQuery } from '@tanstack/react-query'
import { ssoConfigQuery } from '../../../api/sso-queries.ts'
import { useCan } from '../../../app/can.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { RestrictedPage } from '../../../frames/restricted-page.tsx'
import { formatMoment } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
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
      <PageQuery query={config} what={texts.what} heightPx={420}>
        {(data) => (
          <>
            {data.last_error === null ? null : (
              <Note tone="red" icon="warn">
                {texts.lastError(formatMoment(data.last_error.at))} {data.last_error.text}
              </Note>
            )}
            <ProviderCard config={data} />
            <DomainsCard config={data} />
            <AccessCard config={data} />
          </>
        )}
      </PageQuery>
    </RestrictedPage>
  )
}

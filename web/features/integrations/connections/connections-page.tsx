import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { codeHostQuery } from '../../../api/code-host-queries.ts'
import { usePolling } from '../../../api/live.ts'
import { projectSettingsQuery } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Card } from '../../../ui/card.tsx'
import { Note } from '../../../ui/note.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { CodeHostCard } from './code-host-card.tsx'
import { TrackerCard } from './tracker-card.tsx'
import { connectionsTexts as texts } from './texts.ts'

const route = getRouteApi('/signed-in/shell/projects/$projectId/settings/integrations')

/** The connections of a project with other systems: whether each works, and what to do when one does not. */
export function ConnectionsPage() {
  const { projectId } = route.useParams()
  const project = useQuery(projectSettingsQuery(projectId))
  const codeHost = useQuery({ ...codeHostQuery(projectId), refetchInterval: usePolling(15_000), meta: { quiet: true } })
  const may = useCan('integrations.write')
  const name = project.data?.name ?? null
  return (
    <>
      <SettingsHead title={texts.title} of={name} lead={texts.lead(name ?? '')} />
      {may.allowed ? null : (
        <Note tone="blue" icon="lock">
          {texts.readOnly}
        </Note>
      )}
      {codeHost.data === undefined ? (
        codeHost.error === null ? (
          <Skeleton heightPx={220} label={appTexts.loading} />
        ) : (
          <Card>
            <QueryError what={texts.what} error={codeHost.error} onRetry={() => void codeHost.refetch()} />
          </Card>
        )
      ) : (
        <CodeHostCard projectId={projectId} host={codeHost.data} why={may.why} />
      )}
      <TrackerCard projectId={projectId} why={may.why} />
    </>
  )
}

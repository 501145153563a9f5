import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { groupingQuery } from '../../../api/grouping-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import { grouping as texts } from './texts.ts'
import { QueryError } from '../../../common/query-error.tsx'
import { GroupingPreview } from './preview.tsx'
import settingsStyles from '../../../common/settings.module.css'
import styles from './version.module.css'

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })

/** Which version groups this project, and the way to a newer one. */
export function GroupingVersion({ projectId, why }: { projectId: string; why: string | undefined }) {
  const state = useQuery(groupingQuery(projectId))
  const [asking, setAsking] = useState(false)
  const newest = state.data?.newer.at(-1)
  return (
    <section className="card" aria-labelledby="grouping-version">
      <header className="card-h">
        <h2 id="grouping-version">{texts.version}</h2>
        <span className={`sub ${settingsStyles.wideOnly}`}>{texts.versionMore}</span>
      </header>
      {state.data === undefined ? (
        state.error === null ? (
          <Skeleton heightPx={56} label={texts.version} />
        ) : (
          <QueryError what={texts.version} error={state.error} onRetry={() => void state.refetch()} />
        )
      ) : (
        <div className={styles.version}>
          <div>
            <b>{texts.versionIs(state.data.version)}</b>
            <p className="sub">
              {state.data.transition !== null
                ? texts.moving(state.data.transition.from, day.format(new Date(state.data.transition.until)))
                : newest === undefined
                  ? texts.newest
                  : texts.newer(newest)}
            </p>
          </div>
          {newest === undefined || state.data.transition !== null ? null : (
            <Button why={why} onClick={() => setAsking(true)}>
              {texts.upgrade(newest)}
            </Button>
          )}
        </div>
      )}
      {asking && newest !== undefined ? (
        <UpgradeDialog projectId={projectId} version={newest} onClose={() => setAsking(false)} />
      ) : null}
    </section>
  )
}

type UpgradeProps = { projectId: string; version: number; onClose: () => void }

/** What would change is shown before anybody can agree to it. */
function UpgradeDialog({ projectId, version, onClose }: UpgradeProps) {
  const params = { projectId }
  const preview = useQuery({
    queryKey: ['grouping-preview', projectId, version],
    queryFn: ({ signal }) =>
      call('POST /api/projects/:projectId/grouping/preview', { params, body: { version }, signal }),
    staleTime: 60_000,
    retry: false,
  })
  const upgrade = useChange({
    send: () => call('POST /api/projects/:projectId/grouping/upgrade', { params, body: { version } }),
    touches: () => [['projects'], groupingQuery(projectId).queryKey],
    settle: onClose,
    said: () => texts.upgraded(version),
    failed: texts.upgradeFailed,
  })
  return (
    <Dialog open onClose={onClose} title={texts.upgradeTitle(version)} className={styles.dialog}>
      <p>{texts.upgradeText}</p>
      {preview.isPending ? (
        <p role="status" className="sub">
          {texts.looking}
        </p>
      ) : (
        <GroupingPreview preview={preview.data} error={preview.error} />
      )}
      <p className="rowk end">
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button
          look="primary"
          busy={upgrade.isPending}
          why={preview.isPending ? texts.looking : undefined}
          onClick={() => upgrade.mutate()}
        >
          {texts.upgradeRun}
        </Button>
      </p>
    </Dialog>
  )
}

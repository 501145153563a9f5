import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../../api/call.ts'
import { useChange } from '../../../../api/change.ts'
import { groupingQuery } from '../../../../api/grouping-queries.ts'
import { Button } from '../../../../ui/button.tsx'
import { Card } from '../../../../ui/card.tsx'
import { Dialog } from '../../../../ui/dialog.tsx'
import { Toolbar } from '../../../../ui/stack.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { groupingTexts } from './texts.ts'
import { PageQuery } from '../../../../frames/page-query.tsx'
import { GroupingPreview } from './preview.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import styles from './version.module.css'

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })

/** The project's grouping version, and the upgrade to a newer one. */
export function GroupingVersion({ projectId, why }: { projectId: string; why: string | undefined }) {
  const state = useQuery(groupingQuery(projectId))
  const [asking, setAsking] = useState(false)
  const newest = state.data?.newer.at(-1)
  return (
    <Card
      title={groupingTexts.version}
      header={<Minor className={narrowStyles.hiddenAt600}>{groupingTexts.versionMore}</Minor>}
    >
      <PageQuery query={state} what={groupingTexts.version} heightPx={56} inCard>
        {(data) => (
          <div className={classNames(styles.version, narrowStyles.wrapsAt600)}>
            <div className={fitStyles.shrinks}>
              <b>{groupingTexts.versionIs(data.version)}</b>
              <Minor as="p">
                {data.transition !== null
                  ? groupingTexts.moving(data.transition.from, day.format(new Date(data.transition.until)))
                  : newest === undefined
                    ? groupingTexts.newest
                    : groupingTexts.newer(newest)}
              </Minor>
            </div>
            {newest === undefined || data.transition !== null ? null : (
              <Button className={fitStyles.fixed} why={why} onClick={() => setAsking(true)}>
                {groupingTexts.upgrade(newest)}
              </Button>
            )}
          </div>
        )}
      </PageQuery>
      {asking && newest !== undefined ? (
        <UpgradeDialog projectId={projectId} version={newest} onClose={() => setAsking(false)} />
      ) : null}
    </Card>
  )
}

type UpgradeProps = { projectId: string; version: number; onClose: () => void }

/** Shows the effect of the upgrade before it can be confirmed. */
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
    said: () => groupingTexts.upgraded(version),
    failed: groupingTexts.upgradeFailed,
  })
  return (
    <Dialog open onClose={onClose} title={groupingTexts.upgradeTitle(version)} wide>
      <p>{groupingTexts.upgradeText}</p>
      {preview.isPending ? (
        <Minor as="p" role="status">
          {groupingTexts.checking}
        </Minor>
      ) : (
        <GroupingPreview preview={preview.data} error={preview.error} />
      )}
      <Toolbar align="end">
        <Button onClick={onClose}>{groupingTexts.cancel}</Button>
        <Button
          look="primary"
          busy={upgrade.isPending}
          why={preview.isPending ? groupingTexts.checking : undefined}
          onClick={() => upgrade.mutate()}
        >
          {groupingTexts.upgradeRun}
        </Button>
      </Toolbar>
    </Dialog>
  )
}

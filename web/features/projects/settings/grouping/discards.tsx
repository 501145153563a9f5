import { useQuery } from '@tanstack/react-query'
import { call, type AnswerOf } from '../../../../api/call.ts'
import { useChange } from '../../../../api/change.ts'
import { discardsQuery } from '../../../../api/grouping-queries.ts'
import { useCan } from '../../../../app/can.ts'
import { Button } from '../../../../ui/button.tsx'
import { Card } from '../../../../ui/card.tsx'
import { Minor, ShortId } from '../../../../ui/text.tsx'
import { Time } from '../../../../ui/time.tsx'
import { groupingTexts } from './texts.ts'
import { PageQuery } from '../../../../frames/page-query.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import styles from './discards.module.css'

type Discard = AnswerOf<'GET /api/projects/:projectId/discards'>['items'][number]

/** The discarded issues, with buttons that restore them. */
export function Discards({ projectId }: { projectId: string }) {
  const list = useQuery(discardsQuery(projectId))
  const may = useCan('issues.admin')
  const takeUp = useChange({
    send: (discard: Discard) =>
      call('DELETE /api/projects/:projectId/discards/:discardId', { params: { projectId, discardId: discard.id } }),
    touches: () => [discardsQuery(projectId).queryKey],
    guess: (client, { id }) =>
      client.setQueryData(discardsQuery(projectId).queryKey, (page) =>
        page === undefined
          ? page
          : { ...page, items: page.items.filter((one) => one.id !== id), total: page.total - 1 },
      ),
    said: (_answer, discard) => groupingTexts.restored(discard.short_id),
    failed: groupingTexts.restoreFailed,
  })
  return (
    <Card
      title={groupingTexts.discards}
      header={<Minor className={narrowStyles.hiddenAt600}>{groupingTexts.discardsMore}</Minor>}
    >
      <PageQuery query={list} what={groupingTexts.discards} heightPx={56} inCard>
        {(data) =>
          data.items.length === 0 ? (
            <Minor as="p" className={fitStyles.inset12}>
              {groupingTexts.noDiscards}
            </Minor>
          ) : (
            <ul className={styles.list}>
              {data.items.map((discard) => (
                <li key={discard.id}>
                  <div className={fitStyles.shrinks}>
                    <b className={classNames(fitStyles.block, fitStyles.ellipsis)}>{discard.title}</b>
                    <Minor as="p">
                      <ShortId>{discard.short_id}</ShortId>{' '}
                      {groupingTexts.discardedBy(discard.discarded_by?.name ?? null, discard.event_count)} ·{' '}
                      <Time at={discard.created_at} as="since" />
                    </Minor>
                  </div>
                  <Button size="sm" className={fitStyles.fixed} why={may.why} onClick={() => takeUp.mutate(discard)}>
                    {groupingTexts.restore}
                  </Button>
                </li>
              ))}
              {data.total > data.items.length ? (
                <Minor as="li">{groupingTexts.moreDiscards(data.total - data.items.length)}</Minor>
              ) : null}
            </ul>
          )
        }
      </PageQuery>
    </Card>
  )
}

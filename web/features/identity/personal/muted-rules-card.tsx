import { SettingRow } from '../../../frames/setting-row.tsx'
import { useQuery } from '@tanstack/react-query'
import { mutedRulesQuery, type MutedRule } from '../../../api/account-queries.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Minor } from '../../../ui/text.tsx'
import { personalTexts } from './texts.ts'

const texts = personalTexts.mutedRules

/** Alert rules whose mails the user ended with the link of a mail; absent without any. */
export function MutedRulesCard() {
  const muted = useQuery(mutedRulesQuery)
  return (
    <PageQuery query={muted} what={texts.what} title={texts.title} waiting={null}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Card title={texts.title} header={<Minor>{texts.more}</Minor>}>
            <ul>
              {items.map((one) => (
                <MutedRow key={one.id} muted={one} />
              ))}
            </ul>
          </Card>
        )
      }
    </PageQuery>
  )
}

function MutedRow({ muted: { id, rule, project } }: { muted: MutedRule }) {
  const restore = useChange({
    send: () => call('DELETE /api/me/muted-alert-rules/:muteId', { params: { muteId: id } }),
    same: () => id,
    touches: () => [mutedRulesQuery.queryKey],
    said: () => texts.restored(rule.name),
    failed: texts.notRestored,
  })
  return (
    <SettingRow title={rule.name} more={project.name}>
      <Button size="sm" busy={restore.isPending} onClick={() => restore.mutate(undefined)}>
        {texts.restore}
      </Button>
    </SettingRow>
  )
}

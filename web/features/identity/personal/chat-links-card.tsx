import { SettingRow } from '../../../frames/setting-row.tsx'
import { useQuery } from '@tanstack/react-query'
import { chatLinksQuery, type ChatLink } from '../../../api/account-queries.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatDay } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { personalTexts } from './texts.ts'

const texts = personalTexts.chatLinks

/** Users of the chat who act as the user; absent without any, because only the chat begins a link. */
export function ChatLinksCard() {
  const links = useQuery(chatLinksQuery)
  return (
    <PageQuery query={links} what={texts.what} title={texts.title} waiting={null}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Card title={texts.title} header={<Minor>{texts.more}</Minor>}>
            <ul>
              {items.map((link) => (
                <ChatLinkRow key={link.id} link={link} />
              ))}
            </ul>
          </Card>
        )
      }
    </PageQuery>
  )
}

function ChatLinkRow({ link }: { link: ChatLink }) {
  const { id, chat_user_name: name, team_name: team, created_at } = link
  const remove = useChange({
    send: () => call('DELETE /api/me/chat-links/:linkId', { params: { linkId: id } }),
    same: () => id,
    touches: () => [chatLinksQuery.queryKey],
    said: () => texts.removed(name),
    failed: texts.notRemoved,
  })
  return (
    <SettingRow title={texts.named(name, team)} more={texts.linkedOn(formatDay(created_at))}>
      <Button size="sm" look="danger" busy={remove.isPending} onClick={() => remove.mutate(undefined)}>
        {texts.remove}
      </Button>
    </SettingRow>
  )
}

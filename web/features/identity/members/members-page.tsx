import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { meQuery } from '../../../api/queries.ts'
import { invitesQuery, membersQuery } from '../../../api/team-queries.ts'
import { useCan } from '../../../app/can.ts'
import { InviteDialog } from '../../../subjects/members/invite-dialog.tsx'
import { useKeys } from '../../../app/keys.ts'
import { MoreButton } from '../../../frames/more-button.tsx'
import { bothQueries, PageQuery } from '../../../frames/page-query.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Invites } from './invites.tsx'
import { MembersTable } from './members-table.tsx'
import { RolesCard } from './roles-card.tsx'
import { membersTexts as texts } from './texts.ts'

/** The members of the organisation, their invites and what roles mean. */
export function MembersPage() {
  const [inviting, setInviting] = useState(false)
  const may = useCan('team.write')
  useKeys(may.allowed ? [{ keys: 'n', label: texts.invite, group: 'Page' as const, run: () => setInviting(true) }] : [])
  return (
    <>
      <SettingsHead
        title={texts.title}
        of={null}
        lead={texts.lead}
        actions={
          <Button
            look="primary"
            icon="plus"
            keys={may.allowed ? 'n' : undefined}
            why={may.why}
            onClick={() => setInviting(true)}
          >
            {texts.invite}
          </Button>
        }
      />
      <Members />
      {may.allowed ? <Invites /> : null}
      <Roles mayInvite={may.allowed} />
      {inviting ? <InviteDialog onClose={() => setInviting(false)} /> : null}
    </>
  )
}

/** Shown when what is above it has loaded, which would move it. */
function Roles({ mayInvite }: { mayInvite: boolean }) {
  const list = useInfiniteQuery(membersQuery)
  const invites = useQuery({ ...invitesQuery, enabled: mayInvite })
  return list.isPending || (mayInvite && invites.isPending) ? null : <RolesCard />
}

function Members() {
  const list = useInfiniteQuery(membersQuery)
  const me = useQuery(meQuery)
  const members = list.data?.pages.flatMap((page) => page.items) ?? []
  const total = list.data?.pages[0]?.total ?? 0
  return (
    <PageQuery query={bothQueries(list, me)} what={texts.what} heightPx={280}>
      {([, { user }]) => (
        <Card aria-label={texts.title}>
          <MembersTable members={members} me={user} />
          <CardFooter note={total === 1 ? texts.one : texts.count(formatCount(members.length), formatCount(total))}>
            <MoreButton list={list}>{texts.more}</MoreButton>
          </CardFooter>
        </Card>
      )}
    </PageQuery>
  )
}

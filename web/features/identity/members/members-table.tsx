import { useState } from 'react'
import type { Role } from '#shared/permissions.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { membersQuery, type TeamMember } from '../../../api/team-queries.ts'
import { useCan } from '../../../app/can.ts'
import { ROLES_BY_RANK, whyNotRole } from '../../../subjects/members/roles.ts'
import { membersTexts as appTexts } from '../../../subjects/members/texts.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Menu, type MenuEntry } from '../../../ui/menu.tsx'
import narrowStyles from '../../../ui/narrow.module.css'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { RemoveDialog } from './remove-dialog.tsx'
import { membersTexts as texts } from './texts.ts'
import styles from './members-table.module.css'
import typeStyles from '../../../ui/type.module.css'

type Own = { readonly id: string; readonly role: Role }

/** The members; admins change roles in place. */
export const MembersTable = ({ members, me }: { members: readonly TeamMember[]; me: Own }) => (
  <DataTable
    cards
    className={classNames(styles.table, fitStyles.nowrapCells)}
    rows={members}
    keyOf={({ id }) => id}
    columns={[
      {
        head: texts.columns.name,
        className: narrowStyles.cardName,
        cell: (member) => <Who member={member} isOwn={member.id === me.id} />,
      },
      {
        head: texts.columns.role,
        className: narrowStyles.cardFact1,
        cell: (member) => <RoleMenu member={member} me={me} />,
      },
      {
        head: texts.columns.twoFactor,
        label: texts.columns.twoFactor,
        className: classNames(styles.factor, narrowStyles.cardFact2),
        cell: (member) => (member.two_factor ? <Badge tone="green">{texts.on}</Badge> : <Minor>{texts.off}</Minor>),
      },
      {
        head: texts.columns.seen,
        label: texts.columns.seen,
        className: classNames(styles.seen, typeStyles.quietFigures),
        cell: ({ last_seen_at: at }) => (at === null ? <Minor>{texts.never}</Minor> : <Time at={at} as="since" />),
      },
      {
        head: texts.columns.joined,
        hiddenAtPx: 900,
        className: typeStyles.quietFigures,
        cell: (member) => <Time at={member.created_at} />,
      },
      {
        head: texts.columns.actions,
        isHeadHidden: true,
        className: classNames(styles.actions, fitStyles.textEnd),
        cell: (member) => <MemberMenu member={member} me={me} />,
      },
    ]}
  />
)

const Who = ({ member, isOwn }: { member: TeamMember; isOwn: boolean }) => (
  <span className={styles.who}>
    <Avatar user={member} quiet />
    <span className={styles.names}>
      <span className={fitStyles.wrapsCentred}>
        <span>{member.name}</span>
        {isOwn ? <Badge tone="plain">{texts.you}</Badge> : null}
        {member.disabled_at === null ? null : <Badge tone="amber">{texts.disabled}</Badge>}
      </span>
      <Minor>{member.email}</Minor>
    </span>
  </span>
)

/** Writes a changed member into the loaded pages. */
const useMemberChange = (said: (member: TeamMember) => string, failed: string) =>
  useChange({
    send: ({ id, body }: { id: string; body: { role?: Role; disabled?: boolean } }) =>
      call('PATCH /api/team/:memberId', { params: { memberId: id }, body }),
    same: ({ id }) => id,
    touches: () => [['team']],
    guess: (client, { id, body: { role } }) =>
      client.setQueryData(membersQuery.queryKey, (list) =>
        list === undefined || role === undefined
          ? list
          : {
              ...list,
              pages: list.pages.map((page) => ({
                ...page,
                items: page.items.map((one) => (one.id === id ? { ...one, role } : one)),
              })),
            },
      ),
    said,
    failed,
  })

function RoleMenu({ member, me }: { member: TeamMember; me: Own }) {
  const may = useCan('team.write')
  const change = useMemberChange(
    ({ name, role }) => texts.roleChanged(name, appTexts.roleNames[role]),
    texts.roleNotChanged,
  )
  const why = may.why ?? (member.role === 'owner' ? whyNotRole(me.role, 'owner', 'viewer') : undefined)
  return (
    <Menu
      label={texts.roleOf(member.name)}
      trigger={
        <Button
          size="sm"
          look="ghost"
          caret
          why={why}
          aria-label={`${texts.roleOf(member.name)}: ${appTexts.roleNames[member.role]}`}
        >
          {appTexts.roleNames[member.role]}
        </Button>
      }
      entries={ROLES_BY_RANK.map((role) => ({
        label: appTexts.roleNames[role],
        note: appTexts.roleNotes[role],
        checked: role === member.role,
        why: whyNotRole(me.role, member.role, role),
        onSelect: () => {
          if (role !== member.role) change.mutate({ id: member.id, body: { role } })
        },
      }))}
    />
  )
}

function MemberMenu({ member, me }: { member: TeamMember; me: Own }) {
  const [removing, setRemoving] = useState(false)
  const may = useCan('team.write')
  const change = useMemberChange(
    ({ name, disabled_at: at }) => (at === null ? texts.enabledNow(name) : texts.disabledNow(name)),
    texts.notChanged,
  )
  const isOwn = member.id === me.id
  if (!may.allowed) return null
  const why = member.role === 'owner' ? whyNotRole(me.role, 'owner', 'viewer') : undefined
  const toggle: MenuEntry = {
    label: member.disabled_at === null ? texts.disable : texts.enable,
    icon: 'lock',
    why,
    onSelect: () => change.mutate({ id: member.id, body: { disabled: member.disabled_at === null } }),
  }
  return (
    <>
      <Menu
        label={texts.actionsFor(member.name)}
        align="end"
        trigger={<IconButton look="ghost" icon="more" label={texts.actionsFor(member.name)} />}
        entries={[
          ...(isOwn ? [] : [toggle]),
          {
            label: isOwn ? texts.leave : texts.remove,
            icon: 'trash',
            danger: true,
            why: isOwn ? undefined : why,
            onSelect: () => setRemoving(true),
          },
        ]}
      />
      {removing ? <RemoveDialog member={member} isOwn={isOwn} onClose={() => setRemoving(false)} /> : null}
    </>
  )
}

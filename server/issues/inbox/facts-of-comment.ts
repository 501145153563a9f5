import { deleteMentions, insertMentions, mentionedIn } from './mentions.queries.ts'
import { actorLabel, type OrgActor } from '../../platform/context/actor.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { nameMembers } from '../../identity/team/members.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { mentionsIn, type Mention } from './mentions.ts'

/** Only the oldest members of an organisation, up to this number, can be mentioned. */
const MAX_MEMBERS = 5_000

type WrittenComment = {
  readonly id: string
  readonly issueId: string
  readonly projectId: string
  readonly body: string
}

/** Stores the mentions of a new comment. @returns the facts of the comment */
export async function factsOfComment(tx: Tx, actor: OrgActor, comment: WrittenComment): Promise<Fact[]> {
  const mentions = await resolveMentions(tx, actor, comment.body)
  await insertMentions(tx, comment.id, mentions)
  return [
    { kind: 'comment.created', ...idsOf(actor, comment), data: {}, sentence: `${actorLabel(actor)} commented.` },
    ...mentioned(actor, comment, mentions),
  ]
}

/** Stores the mentions of an edited comment. @returns the facts of the edit; members are mentioned once */
export async function factsOfEdit(tx: Tx, actor: OrgActor, comment: WrittenComment): Promise<Fact[]> {
  const known = new Set(await mentionedIn(tx, comment.id))
  const mentions = await resolveMentions(tx, actor, comment.body)
  await deleteMentions(tx, comment.id)
  await insertMentions(tx, comment.id, mentions)
  return [
    { kind: 'comment.updated', ...idsOf(actor, comment), data: {} },
    ...mentioned(
      actor,
      comment,
      mentions.filter(({ userId }) => !known.has(userId)),
    ),
  ]
}

async function resolveMentions(tx: Tx, actor: OrgActor, body: string): Promise<Mention[]> {
  return body.includes('@') ? mentionsIn(body, await nameMembers(tx, actor.orgId, MAX_MEMBERS)) : []
}

const idsOf = (actor: OrgActor, { id, issueId, projectId }: WrittenComment) => ({
  orgId: actor.orgId,
  projectId,
  issueId,
  commentId: id,
})

const mentioned = (actor: OrgActor, comment: WrittenComment, mentions: readonly Mention[]): Fact[] =>
  mentions.length === 0
    ? []
    : [
        {
          kind: 'comment.mentioned',
          ...idsOf(actor, comment),
          data: {},
          userIds: [...new Set(mentions.map(({ userId }) => userId))],
          sentence: `${actorLabel(actor)} mentioned you in a comment.`,
        },
      ]

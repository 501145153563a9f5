/** The ids that a fact about a connection names. */
export const aboutCodeHost = ({
  orgId,
  projectId,
  id,
  url,
}: {
  readonly orgId: string
  readonly projectId: string
  readonly id: string
  readonly url: string
}) => ({ orgId, projectId, targetId: id, label: url })

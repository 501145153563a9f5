/** The ids that a fact about an issue names. */
export const aboutIssue = (issue: { readonly id: string; readonly project_id: string; readonly org_id: string }) => ({
  orgId: issue.org_id,
  projectId: issue.project_id,
  issueId: issue.id,
})

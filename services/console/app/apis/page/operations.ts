/** The operations of a history in words. */
export const OPERATIONS: Readonly<Record<string, string>> = {
  API_CREATED: 'Created',
  API_UPDATED: 'Changed',
  API_RESTORED: 'Restored',
  API_DELETED: 'Deleted',
  API_DEPLOYMENT_STARTED: 'Deployment started',
  API_UNDEPLOYMENT_STARTED: 'Undeployment started',
  API_DEPLOYED: 'Deployed',
  API_UNDEPLOYED: 'Undeployed',
  API_DEPLOYMENT_FAILED: 'Deployment failed',
  API_IMAGE_UPDATED: 'Image changed',
  API_IMAGE_DELETED: 'Image deleted',
  API_VERSION_DOCUMENT_UPDATED: 'Document changed',
  API_VERSION_DOCUMENT_DELETED: 'Document deleted',
  API_VERSION_CREATED: 'Version created',
  API_VERSION_UPDATED: 'Version changed',
  API_VERSION_DELETED: 'Version deleted',
}

"""`passepartout bundle import`: an encoder from elsewhere becomes a bundle. Nothing is trained."""
